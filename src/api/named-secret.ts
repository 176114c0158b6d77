// The answer to a read of one Secret of the platform's namespace by its name. Types only.
import type { Secret } from './builtin/index.ts'

/** `forbidden`: RBAC does not let this process read a Secret of this name; an admin gives the right by name. */
export type NamedSecret = { readonly kind: 'found'; readonly secret: Secret } | { readonly kind: 'absent' | 'forbidden' }

/** Rejects when the API server does not answer and nothing is known from before. */
export type ReadNamedSecret = (name: string) => Promise<NamedSecret>
