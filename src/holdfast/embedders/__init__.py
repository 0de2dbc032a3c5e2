"""How meaning is compared: texts become vectors, inside this process."""
