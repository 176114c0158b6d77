// The value of the wake annotation that the broker sets for a webhook: when it came, which delivery it was, and which pull request it is about. A hint:
// the next one replaces it, also before anybody has seen it, so that what it is about must be found without it as well. Pure.

/** `unknown`: about one pull request, and the broker does not know which. */
export type WokenPullRequest = number | 'unknown'

export type Wake = {
  readonly receivedAt: Date
  readonly deliveryId: string
  /** Undefined: about the repository, the account or a person. */
  readonly pullRequest: WokenPullRequest | undefined
}

/** `<RFC 3339 time>/<delivery id>`, and `/pull/<number>` for what is about one pull request. */
export function wakeText({ receivedAt, deliveryId, pullRequest }: Wake): string {
  const about = pullRequest === undefined ? '' : `/pull/${pullRequest}`
  return `${receivedAt.toISOString()}/${deliveryId}${about}`
}

/** The pull request that a wake is about; undefined for every other text, which may be about all of them. */
export function pullRequestOfWake(wake: string): WokenPullRequest | undefined {
  const [, about] = /^[^/]*\/[^/]*\/pull\/(unknown|[1-9]\d{0,9})$/.exec(wake) ?? []
  return about === undefined || about === 'unknown' ? about : Number(about)
}
