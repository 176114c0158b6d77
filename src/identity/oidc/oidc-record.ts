// What the store keeps for the OIDC provider, as the adapter and the rules of reuse see it.
import type { JsonValue } from '../../lib/json/canonical-json.ts'

/** The JSON form of what the provider stores. */
export type OidcRecordPayload = { readonly [key: string]: JsonValue | undefined }

/** `consumed` is in seconds since 1970. */
export type FoundRecord = { readonly payload: OidcRecordPayload; readonly consumed?: number }
