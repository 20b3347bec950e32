package external

import (
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"

	"filewise"
)

// Classes are the numbers by which a server tells its errors, by class.
type Classes map[filewise.Class][]int

// Of is the class of an error that carries these numbers; those of the connection
// carry none.
func (c Classes) Of(err error, numbers []int) filewise.Class {
	for class, known := range c {
		if slices.ContainsFunc(numbers, func(n int) bool { return slices.Contains(known, n) }) {
			return class
		}
	}
	if Broken(err) {
		return filewise.ClassConnection
	}
	return filewise.ClassOther
}

// Broken tells whether the connection is lost, as far as any driver says it alike.
func Broken(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, driver.ErrBadConn)
}

// Classed is the error with its class, if it has one.
func Classed(class filewise.Class, err error) error {
	if class == filewise.ClassOther {
		return err
	}
	return &filewise.Classed{Class: class, Err: err}
}
