"""What `accuracy.py` and `ecosystem.py` are made of: packages in, findings out, figures over them."""
