/** Names of components: the `@id` of a block or its plugin, each once. */
import type { ConfigDirective } from '../config-tree.ts';
import { pluginOf } from '../list-blocks.ts';
import { paramOf } from '../params.ts';
import { keyText } from '../text/vrl.ts';

export class ComponentKeys {
  readonly #used = new Set<string>();

  /** A name that no other component has, also with what is appended to it. */
  forBlock(directive: ConfigDirective): string {
    const id = paramOf(directive, '@id') ?? paramOf(directive, 'id');
    const written = id && id.embeddedRuby.length === 0 ? keyText(id.value) : '';
    return this.claim(written || keyText(pluginOf(directive) ?? directive.name) || 'block');
  }

  claim(wanted: string): string {
    let key = wanted;
    for (let number = 2; this.#used.has(key); number += 1) key = `${wanted}_${number}`;
    this.#used.add(key);
    return key;
  }
}
