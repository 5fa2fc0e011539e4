"""A small company of real processes on loopback, in which an incident is played in real time."""
