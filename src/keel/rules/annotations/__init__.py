"""Rules about hints that are invalid or contradict the tool they stand on."""
