"""What an owner may assert of rows: densities, grids, exact laws and families of them."""
