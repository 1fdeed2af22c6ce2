// How much room there is: on a phone less is shown at first. The same border as in style.css.

export const narrow = matchMedia("(max-width: 48rem)");
