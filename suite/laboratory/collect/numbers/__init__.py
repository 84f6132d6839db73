"""What numerical functions return: measured, compared with references, explained."""
