"""What tests of flows use: fakes that run whole flows against the lock."""
