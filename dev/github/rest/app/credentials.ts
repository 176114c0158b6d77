// Owns: `POST /credentials/revoke`: whoever finds a leaked credential can end it, without credentials of their own. Installation tokens
// are not taken: they end by themselves. https://docs.github.com/en/rest/credentials/revoke
import type { Context } from '../../context.ts'
import { endUserToken } from '../../oauth/issue.ts'
import { credentialKey } from '../../tokens/formats.ts'
import { accepted, RestError } from '../protocol/answer.ts'
import { fieldsOf } from '../protocol/body.ts'
import { publicRoute, type RestRoute } from '../route.ts'

const mostCredentials = 1000
const revocable = /^(?:ghp|github_pat|gho|ghu|ghr)_/

const revoke = (context: Context, text: string): void => {
  const key = credentialKey(text)
  const refresh = context.world.credentials.refreshTokens[key]
  if (refresh) endUserToken(context, refresh.accessTokenKey)
  endUserToken(context, key)
  context.store.change(({ credentials }) => {
    delete credentials.refreshTokens[key]
  })
}

export const credentialRoutes: readonly RestRoute[] = [
  publicRoute({
    method: 'POST',
    path: '/credentials/revoke',
    only: 'github.com',
    handle: ({ context, body }) => {
      const credentials: unknown = fieldsOf(body, 'Credentials').raw('credentials')
      const count = Array.isArray(credentials) ? credentials.length : 0
      if (!Array.isArray(credentials) || count < 1 || count > mostCredentials) {
        throw new RestError(422, `Validation Failed: credentials must be a list of 1 to ${mostCredentials}.`)
      }
      // What is unknown is passed over in silence: the answer must not tell which credentials are real.
      for (const text of credentials) if (typeof text === 'string' && revocable.test(text)) revoke(context, text)
      return accepted({})
    },
  }),
]
