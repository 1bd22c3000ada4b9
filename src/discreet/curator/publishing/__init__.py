"""From exact numbers to what becomes public: randomised, written down, of a size known before."""
