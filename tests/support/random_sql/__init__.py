"""Random questions: as text, and as trees that no text could ask for."""
