"""Chapter 6: places as angles."""
