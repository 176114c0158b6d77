// How a text is written into a pod so that the container gets it unchanged. Pure.

/**
 * The text for `value` of `env`, `command`, `args` and the command of a probe. There the kubelet replaces `$(NAME)` by another
 * variable of the container, such as one with a secret, and reads `$$` as `$`; older ones also break a character of several
 * bytes behind a `$`. Any other `$` stays as it is, so that most manifests do not change. What comes from a Secret or a
 * ConfigMap is never expanded.
 * Source: k8s.io/kubernetes/third_party/forked/golang/expansion/expand.go
 */
export function literal(text: string): string {
  return text.replaceAll(/\$(?=[$(\u0080-\u{10ffff}])/gu, '$$$$')
}

/** What the container gets of a text that `literal` wrote. */
export function unliteral(text: string): string {
  return text.replaceAll('$$', () => '$')
}

/** The words of a command, each as `literal`. */
export function literalWords(words: readonly string[]): string[] {
  return words.map(literal)
}
