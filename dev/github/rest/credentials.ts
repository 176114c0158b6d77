// Owns: `POST /credentials/revoke`: whoever finds a leaked credential can end it, without credentials of their own. Installation tokens
// are not taken: they end by themselves. https://docs.github.com/en/rest/credentials/revoke
import type { Context } from '../context.ts'
import { endUserToken } from '../oauth/issue.ts'
import { credentialKey } from '../tokens/formats.ts'
import { accepted, invalidField } from './answer.ts'
import { fieldsOf } from './body.ts'
import { publicRoute, type RestRoute } from './route.ts'

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
      const credentials = fieldsOf(body, 'Credentials').optionalTexts('credentials', mostCredentials)
      if (!credentials || credentials.length === 0) throw invalidField('Credentials', 'credentials', 'missing_field')
      // What is unknown is passed over in silence: the answer must not tell which credentials are real.
      for (const text of credentials) if (revocable.test(text)) revoke(context, text)
      return accepted({})
    },
  }),
]
