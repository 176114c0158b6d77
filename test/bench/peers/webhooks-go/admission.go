//go:build admission

// What the peers of the bench `admission` are asked, and refuse.
package main

const mostBody = 8 << 20
const reservedPrefix = "ghtok-"
const refusal = "this name belongs to the platform"

var paths = []string{"/validate/", "/mutate"}
