// Package notify sends people messages about a run: by mail, in chats, or to a program by a webhook.
//
// A receiver's address is a URL, and most of it is secret: the password of a mail server, and for the others the
// whole path, by which anyone may write there. So an Address shows itself without them, and no error holds more of it
// than what String shows.
package notify
