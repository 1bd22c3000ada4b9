"""Small extensions that write pages of the site: the interface, and the references."""
