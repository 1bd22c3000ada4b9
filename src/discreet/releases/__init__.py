"""What became public: answers, their error bars, and their forms for people and programs."""
