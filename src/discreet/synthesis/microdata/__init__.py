"""Tables of people that do not exist: points and their sum, none of them negative."""
