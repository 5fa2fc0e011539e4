"""What people look at. Screens draw frames; they never run episodes."""
