//go:build authorizer

// The rules of the peers of the bench `authorizer`, on names and lists of Secrets and on the namespace of the platform. They name no subjects but those below.
package main

import (
	"slices"
	"strings"
)

const mostBody = 256 << 10

var paths = []string{"/authorize"}

// The empty texts are what the review leaves out.
type asking struct{ verb, group, resource, namespace, name string }

var namedUsers = map[string]bool{"system:kube-controller-manager": true, "system:kube-scheduler": true}
var namedGroups = []string{"system:masters", "system:nodes", "system:serviceaccounts:kube-system"}
var reserved = []string{"ghtok-", "sekisho-registry-", "appsecret-"}
var reading = []string{"get", "list", "watch"}

func isNamed(user string, groups []string) bool {
	return namedUsers[user] || slices.ContainsFunc(groups, func(group string) bool { return slices.Contains(namedGroups, group) })
}

func reasonFor(a asking) string {
	isSecret := a.group == "" && a.resource == "secrets" && a.verb != "create"
	if a.namespace == "sekisho-system" && (isSecret || slices.Contains(reading, a.verb)) {
		return "the namespace sekisho-system is the platform's"
	}
	if !isSecret {
		return ""
	}
	if a.name == "" {
		return "name one Secret"
	}
	if slices.ContainsFunc(reserved, func(prefix string) bool { return strings.HasPrefix(a.name, prefix) }) {
		return "the Secret " + a.name + " is the platform's"
	}
	return ""
}
