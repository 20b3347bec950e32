// Package notify sends people messages about a run: by mail, in chats, or to a program by a webhook.
//
// A receiver's address is a URL, and most of it is secret: the password of a mail server, or, for other services, the
// whole path, with which anyone can write there. So an Address shows itself without its secrets, and no error shows
// more than String does.
package notify
