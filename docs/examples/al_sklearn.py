"""Examples of scikit-learn's estimators, one for each name."""

import numpy as np

import alloy as al

x = np.random.default_rng(0).uniform(-1, 1, (100, 2))

# al.sklearn.Classifier
above = np.where(x[:, 0] > x[:, 1], "above", "below")
classifier = al.sklearn.Classifier(optimizer=al.Adam(0.01), epochs=20, random_state=0).fit(x, above)
assert classifier.predict([[0.9, -0.9], [-0.9, 0.9]]).tolist() == ["above", "below"]

# al.sklearn.Regressor
regressor = al.sklearn.Regressor(optimizer=al.Adam(0.01), epochs=20, random_state=0).fit(x, 2 * x[:, 0])
assert regressor.score(x, 2 * x[:, 0]) > 0.9
