// Schemas of fields that several routes take. Ids arrive as text and are read strictly: no hex, no sign, no list, no number
// that JavaScript would round.
import { type Static, Type } from '@fastify/type-provider-typebox'

/** A numeric id of GitHub. */
export const idText = Type.String({ pattern: '^[1-9][0-9]{0,14}$', description: 'a numeric id' })
/** A handle of the store, such as a one-use state. */
export const handleText = Type.String({ minLength: 20, maxLength: 200, pattern: '^[A-Za-z0-9_-]+$' })
/** The namespace of a tenant. */
export const namespaceText = Type.String({ pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' })
/** The name of a build or of a RemoteSync. */
export const buildNameText = Type.String({ pattern: '^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$' })
/** The name of a ClusterGitHubApp. */
export const appNameText = Type.String({ pattern: '^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$' })
/** The name of an object that is a DNS label. */
export const objectNameText = Type.String({ pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' })
/** The number of a pull request. */
export const pullRequestNumber = Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'the number of a pull request' })
/** The UID of an object that a page showed. */
export const objectUid = Type.String({
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description: 'the UID of an object',
})
/** `metadata.generation` of an object that a page showed. */
export const objectGeneration = Type.String({ pattern: '^[1-9][0-9]{0,14}$', description: 'a generation' })
/** The digest of what a page showed and its form confirms: SHA-256 in hex. */
export const shownDigest = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'the digest of what the page showed' })
/** The secret in every form; `requireForm` compares it. */
export const csrfText = Type.String({ maxLength: 100 })
/** The id of an onboarding. */
export const onboardingId = Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9_-]+$' })

/** Why an onboarding was refused, for its requester: one line. */
export const refusalReason = Type.Optional(Type.String({ maxLength: 200, pattern: '^[^\\p{Cc}]*$' }))

/** The ids of checked checkboxes: none, one or several. */
export const idTexts = Type.Optional(Type.Union([idText, Type.Array(idText, { maxItems: 100 })]))

/** The numbers of `idTexts`. */
export function numbersOf(texts: Static<typeof idTexts> | undefined): readonly number[] {
  if (texts === undefined) return []
  return (typeof texts === 'string' ? [texts] : texts).map(Number)
}
