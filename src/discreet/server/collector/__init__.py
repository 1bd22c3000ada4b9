"""Where reports of a survey arrive: an ASGI application, and what keeps them."""
