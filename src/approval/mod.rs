//! Asking a human: the ladder from a grant to a ticket.
