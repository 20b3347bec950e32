package sqlserver

import (
	"encoding/binary"
)

// Login holds what a client sends about itself (MS-TDS 2.2.6.4).
type Login struct {
	Host, User, Password, Program, Server, Database string
	Process                                         int

	raw []byte
}

func parseLogin(body []byte) (Login, error) {
	r := &reader{rest: body}
	r.take(16)
	l := Login{Process: r.u32(), raw: body}
	r.take(16)
	text := func() []byte {
		from, n := r.u16(), 2*r.u16()
		if from+n > len(body) {
			r.take(len(body) + 1) // fails
			return nil
		}
		return body[from : from+n]
	}
	l.Host, l.User = fromUCS2(text()), fromUCS2(text())
	hidden := append([]byte{}, text()...)
	for i, b := range hidden { // 2.2.6.4: XOR A5, nibbles exchanged
		b ^= 0xA5
		hidden[i] = b<<4 | b>>4
	}
	l.Password = fromUCS2(hidden)
	l.Program, l.Server = fromUCS2(text()), fromUCS2(text())
	text() // extensions
	text() // library
	text() // language
	l.Database = fromUCS2(text())
	return l, r.err
}

// preloginReply announces version 16.0, no encryption, one instance, no MARS.
func preloginReply() []byte {
	options := []struct {
		token byte
		value []byte
	}{{0, []byte{16, 0, 0x0F, 0xF5, 0, 0}}, {1, []byte{2}}, {2, []byte{0}}, {3, nil}, {4, []byte{0}}}
	var head, values []byte
	at := 5*len(options) + 1
	for _, o := range options {
		head = append(head, o.token)
		head = binary.BigEndian.AppendUint16(head, uint16(at+len(values)))
		head = binary.BigEndian.AppendUint16(head, uint16(len(o.value)))
		values = append(values, o.value...)
	}
	return append(append(head, 0xFF), values...)
}

// loginReply acknowledges a login: the database, packets' size, and the server.
func loginReply(database string) []byte {
	r := &Reply{}
	r.envChange(1, ucs2prefixed(database), ucs2prefixed("master"))
	r.envChange(7, []byte{5, 0x09, 0x04, 0xD0, 0x00, 0x34}, []byte{0}) // SQL_Latin1_General_CP1_CI_AS
	r.envChange(4, ucs2prefixed("4096"), ucs2prefixed("4096"))
	name := ucs2prefixed("Microsoft SQL Server")
	r.b = append(r.b, 0xAD)
	r.u16(uint16(1 + 4 + len(name) + 4))
	r.b = append(r.b, 1, 0x74, 0, 0, 4)
	r.b = append(r.b, name...)
	r.b = append(r.b, 16, 0, 0x0F, 0xF5)
	r.done(0, 0)
	return r.b
}
