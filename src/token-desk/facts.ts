// What a request for a token is judged by. Facts only, read from the API server at that moment; nothing is looked up later.
import type { Installation } from '../api/github/installation.ts'
import type { RepositoryGrant } from '../api/github/repository-grant.ts'
import type { TokenSubject } from '../store/token-registry.ts'

export type DeskFacts = {
  readonly grant: RepositoryGrant | undefined
  /** The uid of the grant that the caller meant. */
  readonly grantUid: string | undefined
  readonly installation: Installation | undefined
  /** What the App's own settings say; undefined when it cannot be used. */
  readonly app: { readonly host: string; readonly appId: number } | undefined
  readonly subject: TokenSubject
  readonly now: Date
}
