// Where the spec of an Application names AppSecrets: what its controller checks, and what the command line says about restarts.
// Pure.

/** The part of an Application's spec that names AppSecrets. */
export type SecretNaming = {
  readonly env?: readonly {
    readonly name: string
    readonly from?: { readonly secret?: { readonly name: string; readonly key: string } }
  }[]
  readonly envFrom?: readonly { readonly secret?: string }[]
}

/** One place. */
export type SecretUse = {
  /** The field, for people. */
  readonly field: string
  readonly name: string
  /** Undefined: all keys. */
  readonly key: string | undefined
}

/** Every place that names an AppSecret. */
export function secretUses({ env = [], envFrom = [] }: SecretNaming): readonly SecretUse[] {
  return [
    ...env.flatMap(({ name, from }) =>
      from?.secret === undefined ? [] : [{ field: `spec.env[${name}].from.secret`, ...from.secret }],
    ),
    ...envFrom.flatMap(({ secret }, index) =>
      secret === undefined ? [] : [{ field: `spec.envFrom[${index}].secret`, name: secret, key: undefined }],
    ),
  ]
}

/** The names of the AppSecrets, each once. */
export function usedSecrets(spec: SecretNaming): readonly string[] {
  return [...new Set(secretUses(spec).map(({ name }) => name))]
}
