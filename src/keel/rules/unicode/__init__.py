"""Unicode properties from kept sources, and the questions that rules ask of them."""
