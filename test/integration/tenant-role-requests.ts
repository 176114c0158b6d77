// The parts of requests that the tests of the tenant roles share.

/** One request. */
export type Call = {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly type?: string
  readonly accept?: string
}

/** A path of the core group. */
export const namespaced = (namespace: string, resource: string, rest = ''): string =>
  `/api/v1/namespaces/${namespace}/${resource}${rest}`

/** An object named `x`, which no test lets exist. */
export const object = (apiVersion: string, kind: string, content: object = {}) => ({
  apiVersion,
  kind,
  metadata: { name: 'x' },
  ...content,
})

/** What is tried, and how. */
export type Attack = readonly [string, Call]

/** A container that Pod Security does not let run. */
export const container = { name: 'main', image: 'registry.example/nothing' }
