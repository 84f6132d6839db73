"""What issue modules say."""
