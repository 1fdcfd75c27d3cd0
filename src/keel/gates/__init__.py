"""The deploy gates, one file each: what must hold before a flow may call a tool."""
