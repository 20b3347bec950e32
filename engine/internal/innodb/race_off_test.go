//go:build !race

package innodb

const underRace = false
