// The hosts that no Application may have because the platform is reached there: taken from the settings, once, at the start.
// Pure.
import { AppError } from '../../../lib/errors.ts'
import { sharesCookies } from './hosts.ts'

export type PlatformAddresses = {
  /** Where people sign in: its cookies are sent to that host. */
  readonly publicUrl: URL
  readonly apiServerUrl: URL | undefined
  /** The ingress: its host is the domain of Applications. */
  readonly applicationUrl: URL
  /** Further hosts, from SEKISHO_RESERVED_HOSTS. */
  readonly reservedHosts: readonly string[]
}

/**
 * Lower case, as hosts are compared.
 * @throws AppError `invalid_configuration` when Applications would share cookies with the platform
 */
export function reservedHostsOf({
  publicUrl,
  apiServerUrl,
  applicationUrl,
  reservedHosts,
}: PlatformAddresses): readonly string[] {
  if (sharesCookies(publicUrl.hostname, applicationUrl.hostname))
    throw new AppError(
      'invalid_configuration',
      `SEKISHO_APPLICATION_URL (${applicationUrl.hostname}) must be neither the host of SEKISHO_PUBLIC_URL (${publicUrl.hostname}) nor above or below it: Applications could read or set the cookies of the platform`,
    )
  const hosts = [publicUrl.hostname, ...(apiServerUrl === undefined ? [] : [apiServerUrl.hostname]), ...reservedHosts]
  return [...new Set(hosts.map(host => host.toLowerCase()))]
}
