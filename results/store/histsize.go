// This file bounds the memory of a histogram of latencies from elsewhere: some hundred bytes may claim that it has
// millions of counts.

package store

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
)

// What Filewise's histograms have at most: latencies of a week, in µs, by three digits.
const (
	mostDigits = 3
	highest    = 1 << 40
)

// errHistogramTooLarge reports that a histogram has a wider range than any of Filewise's.
var errHistogramTooLarge = errors.New("its histogram of latencies is larger than what Filewise writes")

// checkHistogramSize reads the head of a histogram in HdrHistogram's compressed encoding, version 2. What is none is left to
// anyone who reads it.
func checkHistogramSize(encoded []byte) error {
	text := base64.NewDecoder(base64.StdEncoding, bytes.NewReader(encoded))
	var head struct {
		Cookie, Length, Offset, Digits int32
		Lowest, Highest                int64
	}
	if _, err := io.CopyN(io.Discard, text, 8); err != nil {
		return nil //nolint:nilerr // it is none
	}
	inner, err := zlib.NewReader(text)
	if err != nil {
		return nil //nolint:nilerr // it is none
	}
	if err := binary.Read(inner, binary.BigEndian, &head); err != nil {
		return nil //nolint:nilerr // it is none
	}
	if head.Digits > mostDigits || head.Highest > highest {
		return errHistogramTooLarge
	}
	return nil
}
