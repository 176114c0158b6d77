// The issuer across changes of its keys: the library takes keys only when it is made, so a new one is made when a period begins. All state is
// in the records, so a sign-in that began with one issuer ends with the next. It knows nothing of what the issuer does.
import type { Issuer } from './issuer.ts'
import type { IssuerKeys } from './issuer-keys.ts'

export function createRotatingIssuer(keys: Pick<IssuerKeys, 'period'>, make: () => Issuer): Issuer {
  let present: { readonly period: number; readonly issuer: Issuer } | undefined
  const issuer = async (): Promise<Issuer> => {
    const period = await keys.period()
    if (present?.period !== period) present = { period, issuer: make() }
    return present.issuer
  }
  return {
    handle: async (request, response) => (await issuer()).handle(request, response),
    pending: async (request, response) => (await issuer()).pending(request, response),
    approve: async (request, response, subject) => (await issuer()).approve(request, response, subject),
    refuse: async (request, response) => (await issuer()).refuse(request, response),
  }
}
