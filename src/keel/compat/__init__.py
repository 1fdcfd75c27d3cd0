"""The relation of two JSON Schemas as sets of instances, each claim with a proof or a verified witness."""
