"""Read progress, and what logs reveal besides it, into the tables: from files, object stores and running sessions."""
