// The port to the keys of the platform that open and seal values: the AppSecret controller uses it, and a service of the
// controllers implements it.
import type { SecretString } from '../../lib/secret-string.ts'
import type { SealedPlace } from './place.ts'

export type SecretKeys = {
  /** Undefined when the value was sealed for another place, or to a key that the platform does not have. */
  readonly open: (
    sealed: string,
    place: SealedPlace,
  ) => Promise<
    { readonly value: SecretString /** Sealed to the key that is in use now. */; readonly isCurrent: boolean } | undefined
  >
  /** Seals to the key that is in use now. */
  readonly seal: (value: SecretString, place: SealedPlace) => Promise<string>
}
