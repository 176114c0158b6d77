// The serving certificate of the authorizer, renewed by the same authority as that of the webhook, where this is what issued it.
// API servers read the authority of the authorizer from a file of theirs, which nobody here sees: so the first certificate, which
// the installer makes, says whom they trust, and one of another authority is never replaced (docs/adr/0096).
import { authorizerNames } from '../../api/wall-names.ts'
import type { Periodic } from '../../lib/periodic.ts'
import { authorityOf } from './authority.ts'
import { authorizerHosts, decideAuthorizerRenewal } from './decide.ts'
import { createRenewal, type RenewalDeps } from './renewal.ts'

/**
 * Undefined when the platform was not given the authority. Nothing runs before `start`.
 * @throws AppError as `authorityOf`
 */
export function openAuthorizerCertificate(deps: RenewalDeps): Periodic | undefined {
  const authority = authorityOf(deps.settings)
  if (authority === undefined) return undefined
  return createRenewal(deps, authority, {
    of: 'the authorizer',
    secret: authorizerNames.secret,
    commonName: authorizerNames.service,
    hosts: authorizerHosts,
    judge: async now => served => decideAuthorizerRenewal({ authority: authority.certificatePem, served, now }),
  })
}
