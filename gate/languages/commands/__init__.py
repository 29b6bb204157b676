"""What command lines say by themselves, read as text: one vocabulary for every room that meets them."""
