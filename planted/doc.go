// Package planted tests the whole of Filewise on storage of known speed, where the
// right answer is known before anything is measured. It holds tests only.
package planted
