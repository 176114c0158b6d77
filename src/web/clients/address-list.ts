// Lists of addresses in CIDR notation (RFC 4632, RFC 4291 §2.3), such as the proxies that may say who their clients are. Pure.
import { BlockList, isIP, isIPv4 } from 'node:net'
import { addressRange } from '../../lib/address-range.ts'
import { itemsOf, type Setting } from '../../lib/config.ts'

export type AddressList = {
  readonly isEmpty: boolean
  /** False for anything that is not an address. An IPv4 address in IPv6 form (`::ffff:…`) is the IPv4 address. */
  readonly contains: (address: string) => boolean
}

/** Addresses and ranges, separated by commas. Throws an Error that names the wrong one. */
export function parseAddressList(text: string): AddressList {
  const list = new BlockList()
  for (const item of itemsOf(text)) {
    const { address, prefix, family } = addressRange(isIP(item) === 0 ? item : `${item}/${isIPv4(item) ? 32 : 128}`)
    // Everybody would be believed, which is never what a list of proxies means.
    if (prefix === 0) throw new Error(`holds ${item}, which is everybody: name the proxies`)
    list.addSubnet(address, prefix, family)
  }
  return {
    isEmpty: list.rules.length === 0,
    contains(address) {
      const version = isIP(address)
      return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6')
    },
  }
}

/** A setting that holds a list of addresses; the default is nobody. */
export function addressListSetting(name: string, description: string): Setting<AddressList> {
  return { name, description, kind: 'list', default: '', parse: parseAddressList }
}
