"""`forebay bench arrays`: arrays that are scattered over ranks."""
