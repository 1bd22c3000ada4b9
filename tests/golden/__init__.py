"""What earlier versions stored, as they stored it. Files here are added, and never made anew."""
